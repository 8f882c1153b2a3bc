interface Open {
  close(): Promise<void>;
}

/**
 * Uses what was opened, and closes it whatever comes of that.
 * @throws what its use throws rather than what closing throws
 */
export async function whileOpen<T extends Open, Result>(
  opened: T,
  use: (opened: T) => Promise<Result>,
): Promise<Result> {
  let result: Result;
  try {
    result = await use(opened);
  } catch (error) {
    await opened.close().catch(() => {});
    throw error;
  }
  await opened.close();
  return result;
}
