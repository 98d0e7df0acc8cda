// Wakes a job shortly after work was stored for it: the transaction may still have to commit.

/** Makes the function that wakes it. Calls that come meanwhile share one more, because their transactions may commit after the first. */
export function wakeSoon(wake: () => void, delayMs: number): () => void {
  let isScheduled = false;
  let isCalledAgain = false;
  const schedule = () => {
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      wake();
      if (isCalledAgain) schedule();
      isCalledAgain = false;
    }, delayMs).unref();
  };
  return () => {
    if (isScheduled) isCalledAgain = true;
    else schedule();
  };
}
