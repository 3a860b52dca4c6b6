"""Rooms from two small files, layout and style: kitchens, dining rooms, living rooms, studies, workbenches."""
