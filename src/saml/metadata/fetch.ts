// Fetches metadata of a service provider from its URL. It decides where assertions are sent and which keys are trusted, so
// it must come from the registered URL itself, without a redirect.

/** Throws with a sentence for the administrator. */
export function createMetadataFetch({ outgoing }: { outgoing: typeof fetch }): (url: string) => Promise<string> {
  return async (url) => {
    // A redirect could lead from https to http, where an attacker on the network can replace the keys.
    const response = await outgoing(url, {
      redirect: 'error',
      headers: { accept: 'application/samlmetadata+xml, */*' },
    });
    if (!response.ok) throw new Error(`${url} answers ${response.status} instead of metadata.`);
    return response.text();
  };
}
