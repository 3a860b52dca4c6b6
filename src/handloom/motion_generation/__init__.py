"""Motion generation by its published names."""
