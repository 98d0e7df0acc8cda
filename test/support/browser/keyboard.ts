// A user without a mouse: every step is a key, and each element that gets the focus must be visible with a focus ring.
import { expect } from 'vitest';
import type { Page } from './browser.ts';

/** What is wrong with the focused element (WCAG 2.4.7, 2.4.11), or ''. Hidden inputs of switches and choices have the ring on their label. */
const faultOfFocus = `(() => {
  const focused = document.activeElement;
  if (!focused || focused === document.body) return '';
  const rect = focused.getBoundingClientRect();
  const shown = [focused, focused.closest('label'), focused.nextElementSibling, focused.parentElement].filter(Boolean);
  const name = focused.outerHTML.slice(0, 120);
  const ring = shown.some((one) => [undefined, '::before', '::after'].some((part) => {
    const style = getComputedStyle(one, part);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
  }));
  if (!ring) return 'no focus ring: ' + name;
  const x = Math.min(Math.max(rect.left + Math.min(rect.width / 2, 20), 0), innerWidth - 1);
  const y = rect.top + Math.min(rect.height / 2, 20);
  if (y < 0 || y > innerHeight) return 'outside of the window: ' + name;
  const top = document.elementFromPoint(x, y);
  const isSeen = top && shown.some((one) => one === top || one.contains(top));
  return isSeen ? '' : 'covered by ' + (top && top.outerHTML.slice(0, 80)) + ': ' + name;
})()`;

export interface Keyboard {
  /** Presses Tab (or Shift+Tab) until the element that matches the selector, or has the text as a line of its own, has the focus. */
  reach(what: string, key?: 'Tab' | 'Shift+Tab'): Promise<void>;
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
}

export function keyboardOf(page: Page): Keyboard {
  const check = async () => expect(await page.evaluate(faultOfFocus)).toBe('');
  const isThere = (what: string) =>
    page.evaluate<boolean>(
      `(() => { const one = document.activeElement; const what = ${JSON.stringify(what)};
        return what.startsWith('[') || what.startsWith('#') ? one.matches(what) : one !== document.body && one.innerText.split('\\n').some((line) => line.trim() === what); })()`,
    );
  return {
    async reach(what, key = 'Tab') {
      for (let count = 0; count < 80; count += 1) {
        if (await isThere(what)) return;
        await page.keyboard.press(key);
        await check();
      }
      throw new Error(`${key} never reaches ${what}`);
    },
    async press(...keys) {
      for (const key of keys) await page.keyboard.press(key);
    },
    type: (text) => page.keyboard.type(text),
  };
}
