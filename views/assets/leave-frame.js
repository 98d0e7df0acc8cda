// Back from an application in a frame of our own page: the window that holds it goes on.
top.location.replace(document.querySelector('a[target=_top]').href);
