// Passkeys in the browser: offers the ones of this device in the username field, and answers the buttons that ask for
// one. The page holds the options; the answer goes back in an ordinary form.
(() => {
  const { browserSupportsWebAuthn, browserSupportsWebAuthnAutofill, startAuthentication, startRegistration } =
    window.SimpleWebAuthnBrowser;
  if (!browserSupportsWebAuthn()) {
    for (const notice of document.querySelectorAll('[data-no-webauthn]')) notice.hidden = false;
    return;
  }

  const showMessage = (form, text) => {
    const place = form.querySelector('[role="status"]');
    if (place) place.textContent = text;
  };

  const send = (form, answer) => {
    form.elements.response.value = JSON.stringify(answer);
    form.requestSubmit();
  };

  for (const form of document.querySelectorAll('form[data-webauthn]')) {
    const optionsJSON = JSON.parse(form.dataset.options);
    const isNew = form.dataset.webauthn === 'create';
    const button = form.querySelector('button');
    form.hidden = false;
    // The browser gives no focus to what was hidden.
    if (button.autofocus) button.focus();
    // Offered first, it leaves the other way without the look of the first.
    if (isNew && button.classList.contains('btn-primary'))
      for (const other of document.querySelectorAll('form:not([data-webauthn]) .btn-primary'))
        other.classList.replace('btn-primary', 'btn-quiet');

    const ask = async (useBrowserAutofill) => {
      try {
        const answer = isNew
          ? await startRegistration({ optionsJSON })
          : await startAuthentication({ optionsJSON, useBrowserAutofill });
        send(form, answer);
      } catch (error) {
        // Abandoned by the user, or by the button taking over from the offer in the field.
        if (useBrowserAutofill) return;
        showMessage(form, error.name === 'InvalidStateError' ? form.dataset.exists : form.dataset.failed);
        button.disabled = false;
      }
    };

    button.type = 'button';
    button.addEventListener('click', () => {
      button.disabled = true;
      showMessage(form, '');
      ask(false);
    });
    if (form.dataset.webauthn === 'autofill') {
      browserSupportsWebAuthnAutofill().then((supported) => {
        if (supported) ask(true);
      });
    }
  }
})();
