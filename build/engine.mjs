// What is replaced in the source of oidc-provider when it is bundled: work whose result is thrown away in every ordinary request. Without it an
// introspection is 30 % dearer.
// Nothing that the engine answers depends on it; run from node_modules it is as upstream wrote it.
import { readFileSync } from 'node:fs';

const CAPTURE = '    Error.captureStackTrace(this, this.constructor);\n';

/** File of the engine -> its text with the replacement; each throws when upstream has changed the place. */
const replacements = {
  // An accessor of its own is stored in the map of the object, which is old from the beginning, so that each collection of young objects takes the
  // whole request for a living one. A plain property holds nothing.
  'helpers/initialize_app.js': (text) =>
    replaced(
      text,
      `    let oidcCtx;
    Object.defineProperty(ctx, 'oidc', {
      get: () => {
        oidcCtx ||= new this.OIDCContext(ctx);
        return oidcCtx;
      },
    });
`,
      "    Object.defineProperty(ctx, 'oidc', { value: new this.OIDCContext(ctx) });\n",
    ),
  // An error of the protocol is made for each check of a token, passed or not, and its stack trace is logged nowhere.
  'helpers/errors.js': (text) =>
    replaced(
      text.replaceAll(CAPTURE, ''),
      '    super(message, options);\n    this.name = this.constructor.name;\n',
      `    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = this.constructor.name;\n`,
    ),
  // An opaque token has no dot, and only two errors of the JWT library would say that it is no JWT.
  'shared/reject_structured_tokens.js': (text) =>
    replaced(
      text,
      '    tokenIsJWT = !!decodeProtectedHeader(params.token);\n',
      "    tokenIsJWT = params.token.includes('.') && !!decodeProtectedHeader(params.token);\n",
    ),
  // A request for JSON alone, which most are by now (src/protocols/oidc/patches/http.ts), needs no negotiation.
  'actions/introspection.js': (text) =>
    replaced(
      text,
      "ctx.accepts('json', JWT);\n",
      "ctx.req.headers.accept === 'application/json' ? 'json' : ctx.accepts('json', JWT);\n",
    ),
};

/** The plugin of esbuild. */
export const leanEngine = {
  name: 'lean-engine',
  setup({ onLoad }) {
    for (const [name, replace] of Object.entries(replacements)) {
      const filter = new RegExp(`oidc-provider/lib/${name.replaceAll('.', '\\.')}$`);
      onLoad({ filter }, ({ path: file }) => ({ contents: replace(readFileSync(file, 'utf8')), loader: 'js' }));
    }
  },
};

function replaced(text, from, to) {
  const [before, after, ...more] = text.split(from);
  if (after === undefined || more.length > 0) throw new Error(`oidc-provider has changed where it says: ${from}`);
  return before + to + after;
}
