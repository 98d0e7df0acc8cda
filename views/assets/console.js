// Comforts of the console, whose pages all work without script: copying a value, and a row of a list as one link. Words come
// from the page.
(() => {
  const said = document.getElementById('said');
  for (const button of document.querySelectorAll('[data-copy]')) {
    button.hidden = false;
    button.addEventListener('click', async () => {
      const value = button.closest('.copyable, .code').querySelector('[data-value]').textContent;
      await navigator.clipboard.writeText(value);
      button.dataset.done = '';
      said.textContent = said.dataset.copied;
      setTimeout(() => {
        delete button.dataset.done;
        said.textContent = '';
      }, 2000);
    });
  }

  for (const row of document.querySelectorAll('[data-row-link]')) {
    row.addEventListener('click', ({ target }) => {
      // A click on another link or control is meant for that, and marked text is meant to be copied.
      if (target.closest('a, button, input, label') || !getSelection().isCollapsed) return;
      row.querySelector('a').click();
    });
  }
})();
