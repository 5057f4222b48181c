"""Makes the demo corpora from marked-up texts, guidelines and two taggers: `python -m demo_data.build`."""
