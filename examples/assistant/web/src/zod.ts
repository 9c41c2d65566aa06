import { z } from "zod";

// The page's policy forbids to make code out of strings, which zod would try.
z.config({ jitless: true });

export { z };
