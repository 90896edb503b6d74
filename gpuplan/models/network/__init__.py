"""The network: what ``links`` deliver, GPUs reached over them (``remoting``), ``training`` on several hosts, and the ``fabric``."""
