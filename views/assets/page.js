// Comforts for pages that work without script: showing a password, printing, sending a form only once, and going on with
// work that takes several requests.
(() => {
  for (const button of document.querySelectorAll('button[data-reveals]')) {
    const input = document.getElementById(button.dataset.reveals);
    const show = (visible) => {
      input.type = visible ? 'text' : 'password';
      button.firstChild.data = visible ? 'Hide' : 'Show';
    };
    button.hidden = false;
    button.addEventListener('click', () => show(input.type === 'password'));
    // Hidden again before it leaves, so that browsers offer to save it as a password.
    input.form.addEventListener('submit', () => show(false));
  }

  for (const button of document.querySelectorAll('button[data-prints]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }

  for (const form of document.forms) {
    form.addEventListener('submit', (event) => {
      if (form.dataset.sent) event.preventDefault();
      form.dataset.sent = 'yes';
    });
  }
  for (const form of document.querySelectorAll('form[data-auto-submit]')) {
    // Time to look, and to leave the page: what is done stays done.
    setTimeout(() => form.requestSubmit(), 400);
  }
  // Back from the next page, the form may be sent again.
  addEventListener('pageshow', () => {
    for (const form of document.forms) delete form.dataset.sent;
  });
})();
