// The limits of the pictures of a brand, and of the worker thread that reads them.

/** The largest picture takes a second. `requestBytes`: of an API call with all of them. `formBytes`: of the form, so that each picture can have its own fault.
 * `fetchMs`: to read the picture of an application from its logo_uri. */
export const imageLimits = {
  bytes: 200_000,
  requestBytes: 4 * 1024 * 1024,
  formBytes: 16 * 1024 * 1024,
  side: 4096,
  pixels: 9_000_000,
  timeLimitMs: 10_000,
  fetchMs: 10_000,
  heapMb: 256,
  maxWaiting: 8,
  unusedHours: 24,
} as const;
