"""One MuJoCo model and its data: names bound to indices, stepping, exact states, contacts, attachments."""

from handloom.sim.attachments import add_attachment
from handloom.sim.contacts import Contact, ContactPair
from handloom.sim.name_table import NameTable
from handloom.sim.user_data import add_user_data
from handloom.sim.world import World

__all__ = ["Contact", "ContactPair", "NameTable", "World", "add_attachment", "add_user_data"]
