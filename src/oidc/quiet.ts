// The engine warns of Node 20 when it is loaded, though everything it needs works there (tests run on 20, 22 and 24).
// Imported before it, so that this one line stays out of our log.
const { warn } = console;

console.warn = (...args: unknown[]) => {
  if (!String(args[0]).includes('Unsupported runtime')) warn.apply(console, args);
};

/** Puts the console back as it was; called once the engine is loaded. */
export function hearAgain(): void {
  console.warn = warn;
}
