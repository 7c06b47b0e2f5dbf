"""What a controller runs in: beside a simulation, told what it senses, heard by its joints."""
