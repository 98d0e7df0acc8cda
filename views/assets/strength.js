// Says how good a new password is while it is typed. It helps and blocks nothing: the server judges when the form is sent.
(() => {
  for (const input of document.querySelectorAll('input[data-strength]')) {
    const box = document.querySelector(`[data-strength-of="${input.id}"]`);
    const text = box.querySelector('[role="status"]');
    const token = input.form.elements._csrf.value;
    let asked = 0;
    let timer;

    const show = ({ score, label, advice }) => {
      box.dataset.score = score;
      text.textContent = `${label[0].toUpperCase()}${label.slice(1)}.${advice.length > 0 ? ` ${advice[0]}` : ''}`;
      box.hidden = false;
    };

    const ask = async () => {
      asked += 1;
      const number = asked;
      const body = JSON.stringify({
        password: input.value,
        known: [...input.form.elements].flatMap((field) =>
          ['username', 'name', 'email'].includes(field.name) && field.value ? [field.value] : [],
        ),
      });
      const headers = { 'Content-Type': 'application/json', Accept: 'application/json', 'X-CSRF-Token': token };
      const answer = await fetch('/password-strength', { method: 'POST', headers, body }).catch(() => undefined);
      // Typing went on meanwhile, or the meter is busy: the next answer counts.
      if (answer?.ok && number === asked && input.value !== '') show(await answer.json());
    };

    input.addEventListener('input', () => {
      clearTimeout(timer);
      if (input.value === '') box.hidden = true;
      else timer = setTimeout(ask, 400);
    });
  }
})();
