// What runs at the end of each test file, in its process, after its own hooks (setup-file.ts). Apart from it, so that a test of pure
// functions does not import the server.
export const atFileEnd = new Set<() => Promise<void>>();
