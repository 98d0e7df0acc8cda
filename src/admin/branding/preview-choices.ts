// The choices above a preview of pages and emails: a language, light or dark, and the application whose brand it has.
import { z } from 'zod';
import { languageNames, languages } from '../../base/texts/languages.ts';
import { t } from '../../base/texts/text.ts';
import type { Field } from '../console/blocks.ts';
import { type Names, typedApplicationValue } from '../console/names.ts';

const modes = { light: t('console.branding.mode.light'), dark: t('console.branding.mode.dark') };

/** The choices in an address. */
export const previewChoices = {
  mode: z.enum(['light', 'dark']).catch('light'),
  /** That of the console by default, if it is offered. */
  language: z.enum(languages).optional().catch(undefined),
  /** A client ID, an entity ID or a name; empty for all pages. */
  application: z.string().max(2048).catch(''),
};

export function languageField(language: string, offered: readonly string[]): Field {
  return {
    name: 'language',
    label: t('console.branding.language'),
    type: 'select',
    value: language,
    options: languageNames(offered).map(({ tag, name }) => ({ value: tag, label: name, language: tag })),
  };
}

export function modeField(mode: string): Field {
  const options = Object.entries(modes).map(([value, label]) => ({ value, label }));
  return { name: 'mode', label: t('console.branding.mode'), type: 'select', value: mode, options };
}

/** The application by its client ID or entity ID, which may be given by its name: a field without script sends that. */
export async function namedApplication(names: Names, text: string): Promise<NamedApplication> {
  const typed = text.trim();
  const found = typed ? await names.applicationOf(typed) : undefined;
  return { application: found?.clientId ?? typed, field: await typedApplicationValue(names, typed, found) };
}

export interface NamedApplication {
  application: string;
  /** What the field of the choice displays and sends. */
  field: Pick<Field, 'value' | 'sends'>;
}

/** The choice of the application. */
export function applicationField({ field }: Pick<NamedApplication, 'field'>): Field {
  return {
    name: 'application',
    label: t('console.branding.application'),
    suggest: 'applications',
    ...field,
    placeholder: t('console.branding.all-pages'),
  };
}
