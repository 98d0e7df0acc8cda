// Whether a browser shows the response of a request as a page of its own (Fetch Metadata, Sec-Fetch-Dest).
import type { Context } from '../context.ts';

/** False for frames and for requests of scripts. True without the header, which old browsers do not send. */
export function isPage(ctx: Context): boolean {
  const destination = ctx.get('Sec-Fetch-Dest');
  return destination === '' || destination === 'document';
}
