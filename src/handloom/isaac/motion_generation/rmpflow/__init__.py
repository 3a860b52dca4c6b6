"""RMPflow: leaves and their kernels, the bodies they act on, the published configuration."""
