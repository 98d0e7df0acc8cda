// The HTML of a mail, from views/mail/letter.eta. Everything is escaped; nothing is loaded from anywhere.
import { Eta } from 'eta';
import type { Letter } from './letter.ts';

export type RenderLetter = (letter: Letter) => string;

export function createLetterRenderer(viewsDir: string): RenderLetter {
  const eta = new Eta({ views: viewsDir, cache: true, autoTrim: [false, 'nl'] });
  return (letter) => eta.render('mail/letter', letter);
}
