// Starts the proof of work as soon as the page is there, and holds a form that is sent too early until it is done.
const widget = document.querySelector('altcha-widget');
const { algorithms, i18n } = globalThis.$altcha;

algorithms.set('PBKDF2/SHA-256', () => new Worker(widget.dataset.worker));
i18n.set('en', {
  ...i18n.get('en'),
  label: widget.dataset.label,
  verifying: widget.dataset.verifying,
  verified: widget.dataset.verified,
  waitAlert: widget.dataset.wait,
});
widget.configure({ hideFooter: true, hideLogo: true, humanInteractionSignature: false, language: 'en' });

const form = widget.closest('form');
const button = form.querySelector('button.btn-primary');
let isWanted = false;
button.addEventListener('click', (event) => {
  if (widget.getState() !== 'verifying') return;
  event.preventDefault();
  isWanted = true;
});
widget.addEventListener('statechange', ({ detail }) => {
  if (detail.state === 'verified' && isWanted) form.requestSubmit(button);
  if (detail.state !== 'verifying') isWanted = false;
});

widget.verify();
