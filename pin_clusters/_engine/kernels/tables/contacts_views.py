"""Rows of what is asked of contacts: see ``contacts_layout``."""

from .contacts_layout import Contact, Contacts, Fields
from .views import view_of

contacts_header = view_of(Contacts)
fields = view_of(Fields)
contact = view_of(Contact)
