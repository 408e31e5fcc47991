"""What a protocol is: the contract that all keep, how they are found, and what stands around every one."""
