//! Plans made durable: locks, staging, atomic publication. An edge: this stage writes files.
