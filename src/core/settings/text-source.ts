// The texts of the setting `texts`, as pages and mails read them: made again only when the setting changed, not for each request.
import type { MessageSource } from '../../base/texts/messages.ts';
import { createOverrides } from '../../base/texts/overrides.ts';
import type { Settings, SettingValues } from './settings.ts';

/** Undefined where no text is set. Reads nothing: the settings are cached. */
export function createTextSource({ latest }: Settings): () => MessageSource | undefined {
  let last: { values: SettingValues; content: string; source: MessageSource | undefined } | undefined;
  return () => {
    const values = latest();
    if (last?.values === values) return last.source;
    // The settings were read again, mostly without a change of the texts, whose messages stay parsed then.
    const content = JSON.stringify(values.texts);
    const source =
      last?.content === content ? last.source : content === '{}' ? undefined : createOverrides(values.texts);
    last = { values, content, source };
    return source;
  };
}
