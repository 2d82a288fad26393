"""What is run for the kernel regime: Figure 1, certificates, and the assumptions one by one."""
