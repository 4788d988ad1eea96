"""Where points lie: in memory, on a device, in files, on a cluster."""
