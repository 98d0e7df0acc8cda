// Sends the one form of the page; without script its button does. A field may be called "submit", hence the prototype.
const { returnUrl, afterSeconds } = document.forms[0].dataset;
HTMLFormElement.prototype.submit.call(document.forms[0]);
// This page stays while the application does not answer.
if (returnUrl) setTimeout(() => location.replace(returnUrl), afterSeconds * 1000);
