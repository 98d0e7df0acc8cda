// Goes on with a sign-out: when all frames are loaded, or when an application lets the browser hang for too long.
(() => {
  const { next, afterSeconds, framesLoaded } = document.querySelector('[data-next]').dataset;
  setTimeout(() => location.replace(next), afterSeconds * 1000);
  if (framesLoaded) addEventListener('load', () => location.replace(framesLoaded));
})();
