"""Published names of Isaac Sim and Isaac Teleop > our classes."""
