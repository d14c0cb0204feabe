"""The policies that come with schedfw, through the same entry points as anyone's."""
