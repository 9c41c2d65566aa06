"""LangGraph checkpoints in one SQLite file, at a cost per turn that does not grow with the conversation.

Each message is stored once, in a table of items; a checkpoint holds ranges of their numbers where it had a list of
messages. One thread writes, and puts whatever waits into one transaction.
"""
