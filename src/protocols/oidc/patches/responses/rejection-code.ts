// Patch behind the engine: an error that it sends back to the application by redirect gets the code under which an
// administrator finds the rejected request in the console.
import type { Context } from '../../../../base/http/context.ts';
import { withCode } from '../../engine/error-description.ts';

/** @param code of the request's rejection; undefined when it was not rejected */
export function addRejectionCode(ctx: Context, code: string | undefined): void {
  const location = String(ctx.response.get('Location') ?? '');
  if (!code || !URL.canParse(location)) return;
  const url = new URL(location);
  if (url.searchParams.has('error')) describe(url.searchParams, code);
  else {
    // The response types of the implicit and hybrid flows have their errors in the fragment (OAuth 2.0 Multiple Response Types, section 5).
    const fragment = new URLSearchParams(url.hash.slice(1));
    if (!fragment.has('error')) return;
    describe(fragment, code);
    url.hash = fragment.toString();
  }
  ctx.set('Location', url.href);
}

function describe(parameters: URLSearchParams, code: string): void {
  parameters.set('error_description', withCode(parameters.get('error_description') ?? undefined, code));
}
