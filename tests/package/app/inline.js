// The page's script, with the module inside.
import { recoverStream } from "tidemark/inline";
import { show } from "./show.js";

show(recoverStream);
