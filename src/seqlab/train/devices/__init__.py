"""The pure functions of training put on devices: by jit over a mesh, or by pmap."""
