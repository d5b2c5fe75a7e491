"""The queue's worker: takes jobs off BullMQ and keeps them as events."""
