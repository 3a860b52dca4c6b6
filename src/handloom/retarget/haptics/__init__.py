"""What an operator feels: types of tactile values, devices that vibrate, and the sink that a graph feeds them by."""
