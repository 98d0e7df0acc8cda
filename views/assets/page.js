// Comforts for pages that work without script: saying that cookies are blocked, showing a password, copying, printing, the username for a forgotten password,
// sending a form only once, going on with work that takes several requests or after another tab has signed in, and times in the viewer's own time.
(() => {
  // Without its cookie, a form is rejected when it is sent.
  const blocked = navigator.cookieEnabled ? null : document.querySelector('[data-cookies-blocked]');
  if (blocked) {
    const what = document.createElement('strong');
    what.textContent = blocked.dataset.cookiesBlocked;
    const text = document.createElement('span');
    text.append(what, ` ${blocked.dataset.advice}`);
    blocked.setAttribute('role', 'alert');
    blocked.append(text);
    blocked.hidden = false;
  }

  for (const button of document.querySelectorAll('button[data-reveals]')) {
    const input = document.getElementById(button.dataset.reveals);
    const { data: label } = button.firstChild;
    const show = (visible) => {
      input.type = visible ? 'text' : 'password';
      button.firstChild.data = visible ? button.dataset.hides : label;
    };
    button.hidden = false;
    button.addEventListener('click', () => show(input.type === 'password'));
    // Hidden again before it leaves, so that browsers offer to save it as a password.
    input.form.addEventListener('submit', () => show(false));
  }

  // Browsers have no clipboard on pages without TLS.
  for (const button of navigator.clipboard ? document.querySelectorAll('button[data-copies]') : []) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const found = [...document.querySelectorAll(button.dataset.copies)];
      await navigator.clipboard.writeText(found.map((one) => one.textContent).join('\n'));
      button.textContent = button.dataset.copied;
    });
  }

  for (const button of document.querySelectorAll('button[data-prints]')) {
    button.hidden = false;
    button.addEventListener('click', () => print());
  }

  // The username goes along to "Forgot password?" in the fragment, which no server and no log sees.
  for (const link of document.querySelectorAll('a[data-carries]')) {
    link.addEventListener('click', () => {
      link.hash = new URLSearchParams({ username: document.getElementById(link.dataset.carries).value });
    });
  }
  const carried = document.querySelector('input[data-carried]');
  const username = new URLSearchParams(location.hash.slice(1)).get('username');
  if (carried && username) {
    carried.value ||= username;
    history.replaceState(history.state, '', location.pathname + location.search);
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

  // The server wrote UTC, because it does not know where the viewer is.
  const language = document.documentElement.lang;
  const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
  const ofThisYear = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit' };
  const exactThisYear = new Intl.DateTimeFormat(language, ofThisYear);
  const thisYear = new Date().getFullYear();
  const withZone = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' });
  const inSentence = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short' });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  const units = [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ];
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    const seconds = (at - Date.now()) / 1000;
    const [unit, length] = units.find(([, one]) => Math.abs(seconds) >= one) ?? ['second', 60];
    const isNear = Math.abs(seconds) < 7 * 86_400;
    // A week from now is not in 6 days.
    const whole = seconds > 86_400 ? Math.round : Math.trunc;
    time.title = withZone.format(at);
    if ('exact' in time.dataset) {
      time.textContent = inSentence.format(at);
      continue;
    }
    time.textContent = isNear
      ? relative.format(whole(seconds / length), unit)
      : (at.getFullYear() === thisYear ? exactThisYear : exact).format(at);
  }

  // Another tab may have signed in or out meanwhile: then the sign-in goes on from its current step.
  const [signIn = ''] = /^\/signin\/[\w-]+/.exec(location.pathname) ?? [];
  const origin = new URLSearchParams(location.search).get('signin');
  const followed = signIn || (/^[\w-]+$/.test(origin ?? '') ? `/signin/${origin}` : '');
  const follow = async () => {
    if (document.visibilityState !== 'visible') return;
    const headers = { accept: 'application/json' };
    const answer = await fetch(`${followed}/changed`, { headers }).catch(() => undefined);
    // 400: it was finished or has expired, which the page says.
    if (answer?.status === 400 || (answer?.ok && (await answer.json()).changed)) location.replace(followed);
  };
  if (followed) document.addEventListener('visibilitychange', follow);

  // Back from the next page, the form may be sent again.
  addEventListener('pageshow', () => {
    for (const form of document.forms) delete form.dataset.sent;
  });
})();
