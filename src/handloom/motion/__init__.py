"""Motion generation: kinematics, collision, planning and timing, built at run time from any compiled MjModel."""
