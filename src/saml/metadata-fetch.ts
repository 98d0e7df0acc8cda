// Metadata of a service provider from its URL. What comes back decides where assertions are sent and which keys are
// believed, so it comes straight from the registered address or not at all.

/** Throws with a sentence for the administrator. */
export function createMetadataFetch({ outgoing }: { outgoing: typeof fetch }): (url: string) => Promise<string> {
  return async (url) => {
    // A redirect could lead from https to http, where anybody on the way can put in keys of their own.
    const response = await outgoing(url, {
      redirect: 'error',
      headers: { accept: 'application/samlmetadata+xml, */*' },
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status} instead of metadata.`);
    return response.text();
  };
}
