"""The version of the program, where every layer can reach it."""

VERSION = "0.1.0"
