// Wakes a job shortly after work was stored for it: the transaction may still have to commit.

/** Makes the function that wakes it once, however often it is called meanwhile. */
export function wakeSoon(wake: () => void, delayMs: number): () => void {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      wake();
    }, delayMs).unref();
  };
}
