/*
 * What a page does about a call, in the order in which it does it. Numbers, because every page pays for the names.
 */

/** Nothing: it may be offered to somebody. */
export const OPEN = 0;
/** It is being noted that we ask for it. */
export const ASKING = 1;
/** It has been asked for. */
export const CLAIMING = 2;
/** It is ours, and is being noted as begun. */
export const STARTING = 3;
/** Its body runs. */
export const RUNNING = 4;
/** The result is being noted. */
export const FINISHING = 5;
/** The answer is sent until it is stored. */
export const ANSWERED = 6;
/** It may have been executed by a page that is gone, and is given back until the server knows. */
export const RELEASING = 7;
/** It is no affair of ours any more. */
export const OVER = 8;
