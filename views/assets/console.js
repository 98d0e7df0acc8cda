// Comforts of the console, whose pages all work without script: copying a value, and a row of a list as one link. Words come
// from the page.
(() => {
  const said = document.getElementById('said');
  // Browsers have no clipboard on pages without TLS.
  for (const button of navigator.clipboard ? document.querySelectorAll('[data-copy]') : []) {
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

  const named = document.querySelector('[data-in-addresses]');
  if (named) {
    // As the page was sent; after Back the browser may have filled in another one.
    let shown = named.defaultValue;
    const follow = () => {
      const typed = named.value.trim();
      if (typed === '') return;
      for (const address of document.querySelectorAll('.copyable [data-value]'))
        address.textContent = address.textContent.replace(`/${shown}/`, () => `/${typed}/`);
      shown = typed;
    };
    named.addEventListener('input', follow);
    addEventListener('pageshow', follow);
  }

  const all = document.querySelector('[data-picks-all]');
  if (all) {
    const boxes = [...document.querySelectorAll('[form=picked]')];
    const count = () => {
      const ticked = boxes.filter((box) => box.checked).length;
      all.checked = ticked === boxes.length;
      all.indeterminate = ticked > 0 && !all.checked;
      return ticked;
    };
    all.hidden = false;
    document.querySelector('[data-picks-link]').hidden = true;
    all.addEventListener('change', () => {
      for (const box of boxes) box.checked = all.checked;
    });
    document.addEventListener('change', ({ target }) => {
      if (target !== all && !boxes.includes(target)) return;
      said.textContent = `${count()} ${document.querySelector('.picked').textContent}`;
    });
    // Also after Back, when the browser ticks the boxes again.
    addEventListener('pageshow', count);
  }

  // Tiles are filtered while their search is typed.
  const tiles = [...document.querySelectorAll('.tiles > li')];
  const search = tiles.length > 0 && document.querySelector('.toolbar [type=search]');
  if (search) {
    search.addEventListener('input', () => {
      const words = search.value.toLowerCase().split(/\s+/);
      for (const tile of tiles) {
        const section = tile.closest('section');
        const text = `${section.querySelector('h2')?.textContent} ${tile.textContent}`.toLowerCase();
        tile.hidden = !words.every((word) => text.includes(word));
        section.hidden = [...section.querySelectorAll('li')].every((one) => one.hidden);
      }
    });
  }

  // On a phone the tabs scroll sideways. After scrollIntoView, the first Tab key would go on from the tab instead of the skip link.
  for (const tab of document.querySelectorAll('.tabs [aria-current]')) {
    const [row, own] = [tab.parentElement, tab.getBoundingClientRect()];
    const { x, width } = row.getBoundingClientRect();
    row.scrollLeft += own.x + own.width / 2 - x - width / 2;
  }

  // The box beside a color, and the color as text.
  for (const box of document.querySelectorAll('[data-color]')) {
    const text = document.getElementById(box.dataset.color);
    box.hidden = false;
    box.addEventListener('input', () => {
      text.value = box.value;
      text.dispatchEvent(new Event('input', { bubbles: true }));
    });
    text.addEventListener('input', () => {
      if (/^#[0-9a-f]{6}$/i.test(text.value)) box.value = text.value;
    });
  }

  // A preview has the values of its form as they are typed, also those of the choices above it. A picture is sent first, and not saved.
  for (const frame of document.querySelectorAll('[data-follows]')) {
    const form = document.getElementById(frame.dataset.follows);
    if (!form?.action) continue;
    let address = new URL(frame.src);
    let hasPictures = false;
    let timer;
    const load = () => {
      for (const { name, type, value, checked } of form.elements) {
        const [field, part] = name.split('.');
        if (part === 'remove') address.searchParams.set(field, checked ? '' : form.elements[`${field}.stored`].value);
        else if (address.searchParams.has(name) && !['file', 'hidden'].includes(type))
          address.searchParams.set(name, value.trim());
      }
      frame.contentWindow.location.replace(address);
    };
    const sendPictures = async () => {
      hasPictures = false;
      const body = new FormData(form);
      body.set('show', '1');
      const answer = await fetch(form.action, { method: 'POST', body });
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const previewUrl = page.querySelector('[data-follows]')?.getAttribute('src');
      if (answer.ok && previewUrl) address = new URL(previewUrl, location.href);
      load();
    };
    document.addEventListener('input', ({ target }) => {
      if (!target.name || target.form !== form) return;
      if (target.type === 'file') hasPictures = true;
      clearTimeout(timer);
      timer = setTimeout(() => (hasPictures ? sendPictures() : load()), 250);
    });
    // What was typed before this script ran, or was there after Back.
    if ([...form.elements].some(({ value, defaultValue = value }) => value !== defaultValue)) load();
  }

  // The question stands over the page that it is about, which is as it was when the question is closed.
  const question = document.querySelector('dialog[data-modal]');
  if (question) {
    question.close();
    document.querySelector('[data-behind]').inert = false;
    question.showModal();
    question.querySelector('[data-closes], footer a').addEventListener('click', (event) => {
      event.preventDefault();
      question.close();
    });
  }

  // The search: a dialog on every page, by Ctrl K (⌘K on a Mac) or its links, which lead to a page without script.
  const find = document.getElementById('find');
  if (find) {
    const open = (event) => {
      event.preventDefault();
      if (find.open) return find.close();
      document.getElementById('side').hidePopover?.();
      find.showModal();
      find.querySelector('input').select();
    };
    for (const link of document.querySelectorAll('[data-opens-search]')) link.addEventListener('click', open);
    document.addEventListener('keydown', (event) => {
      if (event.key?.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey)
        open(event);
    });
    find.addEventListener('click', ({ target }) => target === find && find.close());
    // Escape closes it at once: not the list first, then the text.
    find.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      find.close();
    });
  }

  // Times are typed in a time zone: that of the browser, unless the address or the profile names one.
  const zone = document.querySelector('select[name=zone]');
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && here) {
    if (![...zone.options].some(({ value }) => value === here)) zone.add(new Option(here, here));
    if (zone.value === 'UTC' && !/[?&](zone|from|until)=./.test(location.search)) zone.value = here;
  }

  // A link to a page that only asks, or is a short form, opens it over this page. Any other page is opened.
  const ask = async (link) => {
    const answer = await fetch(link.href).catch(() => undefined);
    const isPage = answer?.ok && !answer.redirected;
    const main = isPage && new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector('main');
    const isQuestion =
      main &&
      main.querySelectorAll('form').length === 1 &&
      !main.querySelector('.savebar, .tabs, .rows, [data-suggest]');
    // A field that this page has too would have the label of the other.
    const isTwice = isQuestion && [...main.querySelectorAll('[id]')].some(({ id }) => document.getElementById(id));
    if (!isQuestion || isTwice) return location.assign(link.href);
    const dialog = document.createElement('dialog');
    dialog.className = 'ask';
    main.querySelector('h1').id = 'asked';
    dialog.setAttribute('aria-labelledby', 'asked');
    for (const other of main.querySelectorAll('.back, .help')) other.remove();
    dialog.append(...main.children);
    document.body.append(dialog);
    dialog.showModal();
    dialog.querySelector('footer a')?.addEventListener('click', (event) => {
      event.preventDefault();
      dialog.close();
    });
    dialog.querySelector('form').addEventListener('submit', ({ target }) => {
      setTimeout(() => {
        for (const button of target.querySelectorAll('button')) button.disabled = true;
      });
    });
    dialog.addEventListener('close', () => {
      dialog.remove();
      link.focus();
    });
  };
  let isAsking = false;
  for (const link of document.querySelectorAll('a[data-asks]')) {
    link.addEventListener('click', (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      // A double click asks once.
      if (isAsking) return;
      isAsking = true;
      ask(link).finally(() => {
        isAsking = false;
      });
    });
  }

  // What was typed is not lost without a word: a form was changed, or came back with a fault or a question.
  let isLeaving = false;
  const isChanged = ({ type, value, defaultValue, checked, defaultChecked, options }) => {
    if (type === 'checkbox' || type === 'radio') return checked !== defaultChecked;
    if (!options) return defaultValue !== undefined && value !== defaultValue;
    const first = [...options].findIndex(({ defaultSelected }) => defaultSelected);
    return [...options].findIndex(({ selected }) => selected) !== Math.max(0, first);
  };
  addEventListener('beforeunload', (event) => {
    const forms = [...document.querySelectorAll('main form[method=post]:not(dialog form)')];
    const isUnsaved = forms.some((form) => form.querySelector('footer') && [...form.elements].some(isChanged));
    if (!isLeaving && (isUnsaved || question || document.getElementById('error'))) event.preventDefault();
  });
  const leave = () => {
    isLeaving = true;
    // Not of a download, nor after Stop: then the page stays.
    setTimeout(() => {
      isLeaving = false;
    }, 2000);
  };
  document.addEventListener('submit', leave);
  document.addEventListener('click', ({ target }) => {
    if (target.closest('form footer a, dialog a')) leave();
  });

  for (const row of document.querySelectorAll('[data-row-link]')) {
    row.addEventListener('click', ({ target }) => {
      // A click on another link or control is meant for that, and marked text is meant to be copied.
      if (target.closest('a, button, input, label') || !getSelection().isCollapsed) return;
      row.querySelector('a').click();
    });
  }
})();
