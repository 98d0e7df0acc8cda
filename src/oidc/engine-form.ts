// The engine writes one page by itself: a form that sends itself on (form_post, and the hops between its own steps), with
// an inline script and no style. This reads that form, so that it can be shown as a page of ours under our own policy.

export interface EngineForm {
  action: string;
  fields: Record<string, string>;
}

const MARK = '<title>Submitting Callback</title>';
const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** The form of such a page; undefined for any other answer. */
export function readEngineForm(body: unknown): EngineForm | undefined {
  if (typeof body !== 'string' || !body.includes(MARK)) return undefined;
  const action = /<form method="post" action="([^"]*)">/.exec(body)?.[1];
  if (action === undefined) throw new Error('the engine writes its form in another way than expected');
  // Values are escaped by the engine, so no quote ends one early.
  const inputs = body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
  const fields = [...inputs].map(([, name = '', value = '']) => [name, decode(value)]);
  return { action: decode(action), fields: Object.fromEntries(fields) };
}

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
