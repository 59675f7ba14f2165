# Node classes that need no model, for a real ComfyUI: put this file into its folder custom_nodes. The stand-in has the
# same classes, so both execute the same graphs, and both append the id of each prompt that they execute to executed.txt
# in their folder of results.

import os
import time
import zlib

import execution
import folder_paths
import torch
from comfy.utils import ProgressBar

take = execution.PromptQueue.get


def take_and_record(queue, timeout=None):
    taken = take(queue, timeout)
    if taken is not None:
        with open(os.path.join(folder_paths.get_output_directory(), "executed.txt"), "a") as record:
            record.write(f"{taken[0][1]}\n")
    return taken


execution.PromptQueue.get = take_and_record


class Draw:
    """A picture of one colour, which is the checksum of what it was asked for."""

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "text": ("STRING", {"multiline": True, "default": ""}),
                "seed": ("INT", {"default": 0, "min": 0, "max": 0xFFFFFFFFFFFFFFFF, "control_after_generate": True}),
                "style": (["plain", "bold"],),
            },
            "optional": {"model": ("MODEL",)},
        }

    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "test"

    def run(self, text, seed, style, model=None):
        color = zlib.crc32(f"{text}|{seed}|{style}".encode()) & 0xFFFFFF
        channels = [((color >> shift) & 0xFF) / 0xFF for shift in (16, 8, 0)]
        return (torch.tensor(channels).expand(1, 8, 8, 3).clone(),)


class PaidDraw(Draw):
    API_NODE = True


class Sleep:
    """Passes a picture on after a time. An interrupt takes effect at the end of a step."""

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
                "seconds": ("FLOAT", {"default": 1.0, "min": 0.0, "max": 86400.0}),
                "steps": ("INT", {"default": 10, "min": 1, "max": 10000}),
            }
        }

    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "test"

    def run(self, image, seconds, steps):
        bar = ProgressBar(steps)
        for _ in range(steps):
            time.sleep(seconds / steps)
            bar.update(1)
        return (image,)


class Fail:
    """Raises an exception of the type that was asked for, such as torch.OutOfMemoryError."""

    @classmethod
    def INPUT_TYPES(cls):
        return {
            "required": {
                "image": ("IMAGE",),
                "message": ("STRING", {"default": "It failed."}),
                "exception_type": ("STRING", {"default": "RuntimeError"}),
            }
        }

    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "test"

    def run(self, image, message, exception_type):
        module, _, name = exception_type.rpartition(".")
        raise type(name, (Exception,), {"__module__": module or "builtins"})(message)


NODE_CLASS_MAPPINGS = {"Draw": Draw, "PaidDraw": PaidDraw, "Sleep": Sleep, "Fail": Fail}
