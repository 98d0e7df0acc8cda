// Autocomplete of a text field, after the combobox pattern of the ARIA Authoring Practices. Without script it is a plain field. The
// server is asked once the typing pauses, and an answer that is no longer needed is dropped.
(() => {
  const PAUSE_MS = 150;
  const newElement = (tag, properties = {}, children = []) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const SVG = 'http://www.w3.org/2000/svg';
  const newDrawing = (path) => {
    const [svg, line] = ['svg', 'path'].map((name) => document.createElementNS(SVG, name));
    line.setAttribute('d', path);
    for (const [name, value] of Object.entries({ viewBox: '0 0 24 24', width: 18, height: 18, fill: 'currentColor' }))
      svg.setAttribute(name, value);
    svg.append(line);
    return newElement('span', { className: 'logo', ariaHidden: 'true' }, [svg]);
  };

  // Of the sprite that the page has its own icons from.
  const newIcon = (name) => {
    const [svg, use] = ['svg', 'use'].map((tag) => document.createElementNS(SVG, tag));
    const [sprite] = document.querySelector('.icon use').getAttribute('href').split('#');
    use.setAttribute('href', `${sprite}#${name}`);
    svg.setAttribute('class', 'icon');
    svg.append(use);
    return newElement('span', { className: 'logo', ariaHidden: 'true' }, [svg]);
  };

  const optionOf = ({ value, label, small, logo, href }, id) => {
    const text = newElement('span', {}, [newElement('span', { className: 'block truncate', textContent: label })]);
    if (small) text.append(newElement('span', { className: 'cell-small truncate', textContent: small }));
    const option = newElement('li', { id, role: 'option', className: 'named' }, [text]);
    if (logo) {
      const className = `logo ${logo.hue} ${logo.isPerson ? 'round' : ''}`;
      const { picture: src, path, text: textContent, icon } = logo;
      if (src) option.prepend(newElement('img', { className, src, alt: '' }));
      else if (icon) option.prepend(newIcon(icon));
      else option.prepend(path ? newDrawing(path) : newElement('span', { className, textContent, ariaHidden: 'true' }));
    }
    option.setAttribute('aria-selected', 'false');
    Object.assign(option.dataset, { value, label, ...(href && { href }) });
    return option;
  };

  for (const [number, input] of document.querySelectorAll('input[data-suggest]').entries()) {
    const list = newElement('ul', { id: `suggestions-${number}`, role: 'listbox', hidden: true });
    list.setAttribute('aria-label', input.ariaLabel ?? input.labels[0]?.textContent ?? '');
    input.after(list);
    for (const [name, value] of [
      ['role', 'combobox'],
      ['aria-autocomplete', 'list'],
      ['aria-expanded', 'false'],
      ['aria-controls', list.id],
    ])
      input.setAttribute(name, value);

    // What is said outside of an open dialog is not heard.
    const said = input.closest('dialog')?.querySelector('[role=status]') ?? document.getElementById('said');
    const answers = new Map();
    const leadsTo = input.dataset.leadsTo;
    // What the field sends as long as it displays the name of the choice.
    let chosen = input.dataset.sends ? { name: input.value, value: input.dataset.sends } : undefined;
    input.form?.addEventListener('formdata', ({ formData }) => {
      if (chosen?.name !== input.value) return;
      // Of a list, each row has a field with this name.
      const rows = [...input.form.elements].filter(({ name }) => name === input.name);
      const values = formData.getAll(input.name).with(rows.indexOf(input), chosen.value);
      formData.delete(input.name);
      for (const value of values) formData.append(input.name, value);
    });
    let timer;
    let running;
    let active = -1;

    const show = (isOpen) => {
      list.hidden = !isOpen;
      input.setAttribute('aria-expanded', String(isOpen));
      if (!isOpen) activate(-1);
    };

    const activate = (index) => {
      list.children[active]?.setAttribute('aria-selected', 'false');
      active = index;
      const option = list.children[index];
      option?.setAttribute('aria-selected', 'true');
      option?.scrollIntoView({ block: 'nearest' });
      if (option) input.setAttribute('aria-activedescendant', option.id);
      else input.removeAttribute('aria-activedescendant');
    };

    const stop = () => {
      clearTimeout(timer);
      running?.abort();
    };

    const choose = (option) => {
      stop();
      if (option.dataset.href) return location.assign(option.dataset.href);
      chosen = { name: option.dataset.label, value: option.dataset.value };
      input.value = chosen.name;
      show(false);
      input.dispatchEvent(new Event('change', { bubbles: true }));
    };

    // The first match of a search that leads to a page is what Enter opens.
    const chooseFirst = async () => {
      stop();
      await look();
      if (list.hidden) location.assign(`${leadsTo}?${new URLSearchParams({ q: input.value })}`);
      else choose(list.children[0]);
    };

    const look = async () => {
      const text = input.value.trim();
      if (text === '') return show(false);
      running = new AbortController();
      try {
        if (!answers.has(text)) {
          const url = `${input.dataset.suggest}?${new URLSearchParams({ q: text })}`;
          // A session that has ended redirects to the sign-in: the field is then a plain one.
          const response = await fetch(url, {
            headers: { 'Page-Language': document.documentElement.lang },
            signal: running.signal,
            redirect: 'error',
          });
          if (!response.ok) return show(false);
          answers.set(text, await response.json());
        }
        const { suggestions, summary } = answers.get(text);
        activate(-1);
        list.replaceChildren(...suggestions.map((one, index) => optionOf(one, `${list.id}-${index}`)));
        show(suggestions.length > 0 && document.activeElement === input);
        if (leadsTo && !list.hidden) activate(0);
        said.textContent = summary;
      } catch {
        show(false);
      }
    };

    input.addEventListener('input', () => {
      stop();
      // The matches that are displayed are those of another text.
      activate(-1);
      timer = setTimeout(look, PAUSE_MS);
    });
    input.addEventListener('keydown', (event) => {
      const { key } = event;
      const count = list.children.length;
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        event.preventDefault();
        if (list.hidden) look();
        else if (key === 'ArrowDown') activate((active + 1) % count);
        else activate((active <= 0 ? count : active) - 1);
      } else if (key === 'Enter' && active >= 0) {
        event.preventDefault();
        choose(list.children[active]);
      } else if (key === 'Enter' && leadsTo && input.value.trim() !== '') {
        event.preventDefault();
        chooseFirst();
      } else if (key === 'Escape' && !list.hidden) {
        event.preventDefault();
        show(false);
      }
    });
    input.addEventListener('blur', () => {
      stop();
      show(false);
    });
    // Before `blur`, so that the list is still there when the pointer is released.
    list.addEventListener('pointerdown', (event) => event.preventDefault());
    list.addEventListener('click', ({ target }) => {
      const option = target.closest('[role=option]');
      if (option) choose(option);
    });
  }
})();
