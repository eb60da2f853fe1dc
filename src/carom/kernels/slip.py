from carom.kernels.stretch import follow_stretch, make_work
