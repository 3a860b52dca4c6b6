"""From hands and joints to actuator targets: clutches, followers, resistance."""
