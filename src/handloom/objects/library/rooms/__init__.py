"""Furniture and appliances of rooms, full size. Fronts face -y; joints are at zero when closed."""
