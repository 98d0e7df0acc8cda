// Says how good a new password is while it is typed. It helps and blocks nothing: the server judges when the form is sent.
(() => {
  for (const input of document.querySelectorAll('input[data-strength]')) {
    const box = document.querySelector(`[data-strength-of="${input.id}"]`);
    const text = box.querySelector('[role="status"]');
    const token = input.form.elements._csrf.value;
    let requestNumber = 0;
    let timer;

    const show = ({ score, text: sentences }, missing) => {
      box.dataset.score = missing > 0 ? Math.min(score, 1) : score;
      text.textContent = sentences;
      box.hidden = false;
    };

    const ask = async () => {
      requestNumber += 1;
      const number = requestNumber;
      const missing = Math.max(0, input.minLength - [...input.value].length);
      const body = JSON.stringify({
        password: input.value,
        missing,
        known: [...input.form.elements].flatMap((field) =>
          ['username', 'name', 'email'].includes(field.name) && field.value ? [field.value] : [],
        ),
      });
      const headers = {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        'X-CSRF-Token': token,
        'Page-Language': document.documentElement.lang,
      };
      const answer = await fetch('/password-strength', { method: 'POST', headers, body }).catch(() => undefined);
      // Typing went on meanwhile, or the meter is busy: the next answer counts.
      if (answer?.ok && number === requestNumber && input.value !== '') show(await answer.json(), missing);
    };

    input.addEventListener('input', () => {
      clearTimeout(timer);
      if (input.value === '') box.hidden = true;
      else timer = setTimeout(ask, 400);
    });
  }
})();
